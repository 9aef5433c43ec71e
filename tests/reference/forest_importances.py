"""Importances of forests, out of bag, one row and one node at a time."""

from __future__ import annotations

import numpy as np

from hedgerow.ensemble.importance.permutation import shuffled


def rows_out(forest, number, n_rows):
    """The rows that the sample of a tree lacks."""
    return np.setdiff1d(np.arange(n_rows), forest.estimators_samples_[number])


def tree_loss(tree, X, y):
    """The loss of one tree: the share of wrong labels or the squared error, the mean over outputs."""
    answers = np.asarray(tree.predict(X))
    return np.mean(answers != y if hasattr(tree, "classes_") else (answers - y) ** 2)


def permutation_by_tree(forest, X, y, blocks, *, seed, n_repeats=1):
    """For every tree and block of columns, the loss with the block shuffled minus that without."""
    table = np.zeros((len(forest), len(blocks)))
    for number, tree in enumerate(forest.estimators_):
        out = rows_out(forest, number, len(X))
        before = tree_loss(tree, X[out], y[out])
        for k, block in enumerate(blocks):
            rises = []
            for repeat in range(n_repeats):
                order = shuffled(seed, number, repeat * X.shape[1] + min(block), len(out))
                changed = X[out].copy()
                changed[:, block] = X[out][order][:, block]
                rises.append(tree_loss(tree, changed, y[out]) - before)
            table[number, k] = np.mean(rises)
    return table


def debiased_by_tree(forest, X, Y, weights):
    """Li et al. 2019, row by row along its path; Y has a column a number, or a 0 or 1 a class."""
    table = np.zeros((len(forest), X.shape[1]))
    for number, tree in enumerate(forest.estimators_):
        times = np.bincount(forest.estimators_samples_[number], minlength=len(X)) * weights
        paths = [path.indices.tolist() for path in map(tree.decision_path, X[:, None, :])]
        flat, means = tree.tree_, {}
        for node in range(flat.node_count):
            inside = [i for i in range(len(X)) if node in paths[i]]
            total = sum(times[i] for i in inside)
            means[node] = sum(times[i] * Y[i] for i in inside) / total
        told = np.where(times == 0, weights, 0.0)
        for i in np.flatnonzero(told):
            for node, child in zip(paths[i], paths[i][1:], strict=False):
                step = (means[child] - means[node]) @ (Y[i] - means[0])
                table[number, flat.feature[node]] += told[i] * step
        table[number] /= told.sum()
    return table
