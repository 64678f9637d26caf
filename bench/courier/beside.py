#!/usr/bin/python3
"""scikit-learn's forest and boosting on the same rows and folds as courier_bench; one JSON list on stdout.

    beside.py RUNS.csv FOLDS.json
"""
import csv
import json
import sys

import numpy
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression


def forest(seed):
    return RandomForestRegressor(n_estimators=100, random_state=seed, n_jobs=1)


def boosting(seed):
    return GradientBoostingRegressor(random_state=seed)


def main(runs, folds):
    with open(runs) as file:
        rows = list(csv.DictReader(file))
    with open(folds) as file:
        deals = [numpy.array(deal) for deal in json.load(file)]
    three = numpy.array([[float(row[name]) for name in ("batch", "cpu", "njobs")] for row in rows])
    four = numpy.column_stack([three, three[:, 1] * three[:, 2]])
    models = (("linear", lambda _: LinearRegression(), three), ("forest", forest, three), ("boosting", boosting, three),
              ("forest, with processes", forest, four), ("boosting, with processes", boosting, four))
    found = []
    for target, column in (("time", "time"), ("accuracy", "final_accuracy")):
        truth = numpy.array([float(row[column]) for row in rows])
        for name, make, inputs in models:
            scores = []
            for seed, deal in enumerate(deals):
                said = numpy.zeros(len(truth))
                for fold in range(deal.max() + 1):
                    learn = deal != fold
                    said[~learn] = make(seed).fit(inputs[learn], truth[learn]).predict(inputs[~learn])
                squared = (said - truth) ** 2
                relative = numpy.abs(said - truth) / numpy.abs(truth)
                scores.append((1 - squared.sum() / ((truth - truth.mean()) ** 2).sum(), squared.mean(),
                               relative.mean(), numpy.median(relative)))
            r2, mse, mape, median = numpy.mean(scores, axis=0)
            found.append({"target": target, "model": name, "r2": r2, "mse": mse, "mape": mape, "median_ape": median})
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
