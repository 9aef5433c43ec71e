"""Single trees: grown, asked, pruned, and written out in other forms."""

from hedgerow.tree.classifier import DecisionTreeClassifier
from hedgerow.tree.export import (
    export_graphviz,
    export_json,
    export_python,
    export_rules,
    export_svg,
    export_text,
    plot_tree,
    shap_trees,
)
from hedgerow.tree.importance import impurity_importance, node_average, occurrences
from hedgerow.tree.pruning import (
    Pruning,
    PruningPath,
    cost_complexity_path,
    cross_validated_path,
    prune,
)
from hedgerow.tree.regressor import DecisionTreeRegressor
from hedgerow.tree.stump import DecisionStump
from hedgerow.tree.tree import Tree

__all__ = [
    "DecisionStump",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Pruning",
    "PruningPath",
    "Tree",
    "cost_complexity_path",
    "cross_validated_path",
    "export_graphviz",
    "export_json",
    "export_python",
    "export_rules",
    "export_svg",
    "export_text",
    "impurity_importance",
    "node_average",
    "occurrences",
    "plot_tree",
    "prune",
    "shap_trees",
]
