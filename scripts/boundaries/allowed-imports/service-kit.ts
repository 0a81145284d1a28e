import type { PackageTable } from '../table.ts'

export const serviceKit: PackageTable = {
  'run-program.ts': {
    inside: './',
    outside: 'node:fs node:process process.env',
    because: 'It is the common part of every main.ts.',
  },
  'workers/': {
    inside: './',
    outside: 'node:child_process node:events node:net node:process node:timers',
  },
  'metrics/**': {
    inside: './',
    outside: 'node:dgram node:dns node:events node:fs node:http node:net node:stream node:timers',
  },
  './': {
    outside: 'node:fs node:net node:path node:process node:timers node:util node:v8',
    because: 'The kit does not depend on other packages of this repository.',
  },
}
