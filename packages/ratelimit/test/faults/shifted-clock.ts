// Loaded into the service before anything else: a signal sets its clock back by an hour, or corrects it.

import process from 'node:process'

const real = Date.now
let shiftMs = 0
Date.now = () => real() + shiftMs
process.on('SIGUSR2', () => {
  shiftMs = shiftMs === 0 ? -3_600_000 : 0
})
