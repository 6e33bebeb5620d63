"""The five format documents that unspool implements: one test for each example, table row, drawing and step.

Cases are our own equivalents. Where the documents themselves are present, `test_literal_*` run their examples too.
"""
