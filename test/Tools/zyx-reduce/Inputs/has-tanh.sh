#!/bin/sh
# Fails on files with a tanh.
! grep -q tanh "$1"
