"""Mistakes that the types of the package reveal, each in a line that ends with `# error`."""
import tamis

seen = tamis.Filter(items=1000, fpr=0.01)
seen.add("fine")
seen.add(1.5)  # error
seen.add(None)  # error
seen.addd("a")  # error
tamis.Filter(itmes=1000)  # error
tamis.Filter(items="1000")  # error
tamis.plan(items=10, fpr=0.1).bits_per_itme  # error
text: str = len(seen)  # error
tamis.Counts(error=1e-4).estimate("x").count + "1"  # error
groups = tamis.Map({"ann": 3})
groups.get("ann") + 1  # error
groups["ann"] = 4  # error
groups.get(1.5)  # error
seen.save(3.5)  # error
