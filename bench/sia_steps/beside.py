#!/usr/bin/python3
"""scikit-learn's forest on the rows and folds of sia_steps_bench; one JSON object on stdout, by file.

    beside.py FOLDS.json
"""
import json
import sys

import numpy
from sklearn.ensemble import RandomForestRegressor


def forest():
    return RandomForestRegressor(n_estimators=100, random_state=1, n_jobs=1)


def errors(said, truth):
    return numpy.abs(said - truth) / truth


def main(folds):
    with open(folds) as file:
        sets = json.load(file)
    found = {}
    for name, each in sets.items():
        rows = numpy.array(each["rows"]).reshape(-1, each["columns"])
        truth, fold, small = (numpy.array(each[key]) for key in ("seconds", "fold", "small"))
        said = numpy.zeros(len(truth))
        for held in range(fold.max() + 1):
            learn = fold != held
            said[~learn] = forest().fit(rows[learn], truth[learn]).predict(rows[~learn])
        far = forest().fit(rows[small], truth[small]).predict(rows[~small])
        found[name] = {"mape": errors(said, truth).mean(), "beyond": numpy.median(errors(far, truth[~small]))}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
