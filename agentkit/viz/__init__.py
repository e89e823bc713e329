"""Pictures of what the package knows, each with the same facts as text.

    facts ──traits──▶ widget ──▶ a picture (JupyterLab, Notebook 7, light and dark)
                             ──▶ as_text() (GitHub, CI, screen readers)

Only notebooks, tests and the command line import this package.

A session may be given in place of the facts: `WindowBar(session)`, `WindowTimeline(session)`.

Read next: palette.py, subject.py, window_bar.py, window_timeline.py, recall_hits.py.
"""
