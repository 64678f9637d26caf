#!/usr/bin/python3
"""scikit-learn's forest on the rows and folds of sia_steps_bench; one JSON object on stdout, by file.

    beside.py FOLDS.json

The floor is half of a forest's that is off by 2.3 to 12.9 %. On the placements files that is the default forest on
batch, replicas, nodes and replicas on the fullest node (2.30 to 12.94 % with KFold(10, shuffle=True, random_state=1));
on the scalability files (2.3 to 28 %), or both pooled (1.0 to 19 %), or with fewer or more columns, no forest has that
range. So that one is "mape"; "mape_of_all" is the forest that sees the columns our model sees.
"""
import json
import sys

import numpy
from sklearn.ensemble import RandomForestRegressor


def forest():
    return RandomForestRegressor(n_estimators=100, random_state=1, n_jobs=1)


FLOOR = ["batch", "replicas", "nodes", "largest"]


def held_out(rows, truth, fold):
    said = numpy.zeros(len(truth))
    for held in range(fold.max() + 1):
        learn = fold != held
        said[~learn] = forest().fit(rows[learn], truth[learn]).predict(rows[~learn])
    return said


def errors(said, truth):
    return numpy.abs(said - truth) / truth


def main(folds):
    with open(folds) as file:
        sets = json.load(file)
    found = {}
    for name, each in sets.items():
        rows = numpy.array(each["rows"]).reshape(-1, len(each["columns"]))
        few = rows[:, [each["columns"].index(name) for name in FLOOR]]
        truth, fold, small = (numpy.array(each[key]) for key in ("seconds", "fold", "small"))
        far = forest().fit(few[small], truth[small]).predict(few[~small])
        found[name] = {"mape": errors(held_out(few, truth, fold), truth).mean(),
                       "mape_of_all": errors(held_out(rows, truth, fold), truth).mean(),
                       "beyond": numpy.median(errors(far, truth[~small]))}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
