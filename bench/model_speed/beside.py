#!/usr/bin/python3
"""How long scikit-learn's models take to learn the rows of a CSV file (the last column is the target), as JSON.

    beside.py ROWS.csv
"""
import json
import sys
import time

import numpy
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Lasso, LinearRegression, Ridge

MODELS = {"linear": LinearRegression(), "ridge": Ridge(), "lasso": Lasso(),
          "forest": RandomForestRegressor(n_estimators=100, random_state=1, n_jobs=1),
          "boosting": GradientBoostingRegressor(random_state=1)}

rows = numpy.loadtxt(sys.argv[1], delimiter=",")
took = {}
for name, model in MODELS.items():
    began = time.process_time()
    model.fit(rows[:, :-1], rows[:, -1])
    took[name] = time.process_time() - began
json.dump(took, sys.stdout)
