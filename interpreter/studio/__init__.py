"""The studio: write, check, play and compare rulesets on one page in the browser.

:mod:`workbench` is the author's folder, :mod:`site` the application. It runs on this machine, or inside a browser.
"""
