"""The command line: ``main`` has the list of verbs, each verb has a file of its name.

Data goes to standard output, messages and progress to standard error. A verb only reads options,
calls the library and shows what came back; what it computes lives in the library.
"""
