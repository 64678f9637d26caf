#!/usr/bin/env bash
# Stands for any program that can be driven from a shell: "trains" by halving an error, and tells Tandem each epoch.
# It keeps no checkpoints, so a restart begins at epoch 1 again; Tandem does not count an epoch twice.
set -euo pipefail

error=1
for epoch in $(seq 1 "${TANDEM_EPOCHS:-5}"); do
  error=$(awk -v e="$error" -v r="${TANDEM_HYPER_RATE:-0.3}" 'BEGIN { print e * (1 - r) }')
  accuracy=$(awk -v e="$error" 'BEGIN { print 1 - e }')
  echo "epoch $epoch: error $error"

  # 0: go on; 3: Tandem wants no more epochs; anything else: something is wrong.
  status=0
  tandem tell "accuracy=$accuracy" "error=$error" || status=$?
  case $status in
    0) ;;
    3) echo "told to stop after epoch $epoch"; exit 0 ;;
    *) exit "$status" ;;
  esac
done
