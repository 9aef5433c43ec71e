"""Fuzzing: files and arrays that are wrong in ways nobody thought of.

``python -m tests.fuzz --seconds 60`` mutates valid inputs, reads each in a child process and calls
everything that can be called on the result. An answer or an error of :mod:`hedgerow.errors` is
fine. A crash, a hang, a flood of memory or any other error is a finding: its input is saved, with
the command that repeats it. Inputs of findings that were mended are kept in ``corpus/``.

Mutation number k of a target with a seed is always the same, whatever ran before.

A target is one kind of input (:mod:`tests.fuzz.target`), a campaign runs mutations of targets in
child processes and watches them (:mod:`tests.fuzz.campaign`, :mod:`tests.fuzz.child`).
"""
