"""What every search shares: folds, trials, which candidate wins, and predictions made out of fold."""
