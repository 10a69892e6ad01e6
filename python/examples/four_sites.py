# %% [markdown]
# # Four sites: from CSV files that may not be pooled to a model in use
#
# Each of four hospitals has a CSV file. Rows stay where they are: the sites exchange only model
# parameters, each with its two neighbours. Here we make up the files, in the directory that the
# first argument names.

# %%
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import saddle

temporary = tempfile.TemporaryDirectory()
directory = Path(sys.argv[1] if len(sys.argv) > 1 else temporary.name)


def patients(rows, seed, youngest=20, oldest=90):
    generator = np.random.default_rng(seed)
    out = pd.DataFrame({"age": generator.integers(youngest, oldest, rows)})
    out["pressure"] = generator.normal(120 + 0.3 * out.age, 15)
    out["smoker"] = generator.choice(["never", "former", "current"], rows)
    risk = 0.05 * (out.age - 60) + 0.03 * (out.pressure - 140) + 1.2 * (out.smoker == "current")
    out["ill"] = np.where(risk + generator.normal(size=rows) > 1, "yes", "no")
    return out


ages = [(20, 60), (40, 75), (60, 90), (20, 90)]  # of the patients of each site
for site in range(4):
    patients(60 + 20 * site, site, *ages[site]).to_csv(directory / f"site-{site}.csv", index=False)
patients(2000, 9).to_csv(directory / "held-out.csv", index=False)

# %% [markdown]
# Look at the data: rows and labels of each site. The label is the last column; text columns become
# a feature per category, the same at all sites.

# %%
held_out = directory / "held-out.csv"
instance = saddle.Instance("auc", directory / "site-%d.csv", test_data=held_out, topology="ring")
print(instance.summary())

# %% [markdown]
# Train, until the gap says that the problem is solved.

# %%
together = instance.run("precision-auto", iterations=5000, tolerance=1e-4)
print(together.summary())
assert together.stop == "tolerance"

# %% [markdown]
# Is it better than what a site can do alone, whose patients are not those of the others? A
# DataFrame is read like a CSV file.

# %%
held = pd.read_csv(held_out)
alone = []
for site in range(4):
    own = pd.read_csv(directory / f"site-{site}.csv")
    r = saddle.run("auc", own, agents=1, algorithm="precision-auto", tolerance=1e-4)
    alone.append(saddle.evaluate(r, held, held["ill"])["auc"])
    print(f"site {site} alone: AUC {alone[-1]:.4f}")
print(f"together:     AUC {together.outcomes['test_auc']:.4f}")
assert together.outcomes["test_auc"] > max(alone)

# %% [markdown]
# Use it: save the model, and score new rows elsewhere. Columns are found by their names.

# %%
together.save(directory / "model.npz")
scores = saddle.predict(directory / "model.npz", held[["smoker", "age", "pressure"]])
weights, intercept = saddle.coefficients(directory / "model.npz")
print(f"{np.mean(scores > 0):.0%} of the new patients are ranked as ill")
assert np.mean((scores > 0) == (held["ill"] == "yes")) > 0.75 and len(weights) == 2 + 3

# %% [markdown]
# Show it to others: one page, which needs no other file.

# %%
saddle.report(together, directory / "report.html", title="Four sites")
temporary.cleanup()
