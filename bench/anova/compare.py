"""Compares every table of `anova_bench --tables` (standard input) with statsmodels' on the same data.

    anova_bench --tables | python3 bench/anova/compare.py DATA

Exit code: 0 all agree to a millionth; 1 one does not; 77 statsmodels is not installed.
"""
import csv
import math
import sys

try:
    import pandas
    import statsmodels.api
    import statsmodels.formula.api
except ImportError as missing:
    print(f"statsmodels beside it: not run ({missing}; tools/setup compare)")
    sys.exit(77)

AGREE = 1e-6  # relative


def frame_of(data, means):
    if not means:
        return pandas.read_csv(f"{data}/courier/lenet5-bigdl-48.csv")
    cells = pandas.read_csv(f"{data}/courier/fullfactorial-means-48.csv")
    rows = []
    for cell in cells.itertuples():  # six runs of the cell's mean and deviation
        off = cell.time_sd * math.sqrt((cell.n - 1) / cell.n)
        rows += [(cell.cpu, cell.batch, cell.njobs, cell.time_mean + sign * off) for sign in (1, -1) * 3]
    return pandas.DataFrame(rows, columns=["cpu", "batch", "njobs", "time"])


def table_of(data, row):
    frame = frame_of(data, row["means"] == "true")
    names = ["cpu", "batch", "njobs"]
    if row["numbers"] != "true":
        names = [f"C({name}, Sum)" for name in names]
    response = f"numpy.log({row['response']})" if row["logarithm"] == "true" else row["response"]
    import numpy  # noqa: F401  (the formula names it)
    model = statsmodels.formula.api.ols(f"{response} ~ ({' + '.join(names)}) ** {row['order']}", frame).fit()
    table = statsmodels.api.stats.anova_lm(model, typ=int(row["type"]))
    return {term.replace("C(", "").replace(", Sum)", ""): values for term, values in table.to_dict("index").items()}


def main(data):
    tables, worst, count = {}, 0.0, 0
    for row in csv.DictReader(sys.stdin):
        key = (row["title"], row["type"])
        if key not in tables:
            tables[key] = table_of(data, row)
        theirs = tables[key][row["term"]]
        for ours, other in (("sum_of_squares", "sum_sq"), ("df", "df"), ("f", "F"), ("p", "PR(>F)")):
            wanted, found = theirs[other], float(row[ours])
            off = abs(found - wanted) / abs(wanted) if wanted else abs(found)
            if not off <= AGREE:
                print(f"  {row['title']}, type {row['type']}, {row['term']}: {ours} {found}, statsmodels {wanted}")
            worst, count = max(worst, off), count + 1
    print(f"statsmodels beside it: {count} numbers of {len(tables)} tables, largest relative difference {worst:.1e}")
    return 0 if count and worst <= AGREE else 1


sys.exit(main(sys.argv[1]))
