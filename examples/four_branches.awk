# Writes the CSV files of docs/tutorial.md: 4000 customers of four branches of a bank (branch-0.csv to branch-3.csv),
# 1000 for choosing a model (held-out.csv) and 1000 for the end (later.csv). Women work fewer hours and more often in
# crafts or care, so that hours and job give sex away.
#
#   LC_ALL=C awk -f examples/four_branches.awk
function random() { seed = seed * 16807 % 2147483647; return seed / 2147483647 }
BEGIN {
    seed = 1
    split("office sales crafts care", jobs)
    for (i = 0; i < 6000; i++) {
        female = (random() < 0.5)
        degree = (random() < 0.4)
        job = jobs[1 + int(2 * random()) + 2 * (random() < (female ? 0.7 : 0.2))]
        hours = (female ? 0.4 : 0.7) + 0.7 * random()
        debt = 3 * random() * random()
        score = 3 * hours - 1.5 * debt + degree + (job == "office") - 0.5 * (job == "care") - 0.4 * female - 2
        repaid = (score + 4 * (random() + random() - 1) > 0)
        branch = int(2 * random()) + 2 * (random() < (degree ? 0.8 : 0.3))
        file = (i % 6 == 0 ? "held-out" : i % 6 == 1 ? "later" : "branch-" branch) ".csv"
        if (!(file in rows)) print "school,job,hours,debt,sex,repaid" > file
        rows[file]++
        print sprintf("%s,%s,%.0f,%.0f,%s,%s", (degree ? "degree" : "school"), job, 40 * hours, 30000 * debt,
                      (female ? "female" : "male"), (repaid ? "yes" : "no")) > file
    }
}
