"""Three layers of memory: what was just said, the task at hand, and what stays.

    short (rounds, summary)   working (goal, facts)   long (records on disk, recall)

Read first: records.py, then long.py and recall.py.
"""
