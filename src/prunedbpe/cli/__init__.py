"""The command line: ``main`` lists the verbs, and each verb has a file of its name.

Data goes to standard output, messages and progress to standard error. A verb parses options, calls
the library and prints the result; it computes nothing itself.
"""
