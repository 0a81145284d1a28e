import type { PackageTable } from '../table.ts'

export const serviceKit: PackageTable = {
  'cli/run-program.ts': {
    inside: 'cli/',
    outside: 'node:fs node:process process.env',
    because: 'It is the common part of every main.ts.',
  },
  'cli/': { inside: 'text/', outside: 'node:path node:process' },
  'settings/': { inside: 'text/', outside: 'node:util' },
  'process/': {
    inside: 'text/',
    outside: 'node:fs node:path node:timers node:v8',
    types: 'log/',
  },
  'workers/': {
    inside: 'log/ process/',
    outside: 'node:child_process node:events node:net node:process node:timers',
  },
  'http.ts': {
    outside: 'node:process',
    because: 'Only it uses functions of node:http, which are slow to load in any other way.',
  },
  'metrics/**': {
    inside: 'http.ts log/ text/',
    outside: 'node:dgram node:dns node:events node:fs node:net node:stream node:timers',
    types: 'node:http',
  },
  'log/': { inside: 'text/', outside: 'node:fs node:net node:process' },
  'text/': { because: 'Every other folder may use it, so it imports nothing.' },
}
