import type { PackageTable } from '../table.ts'

export const testServers: PackageTable = {
  'index.ts': { inside: 'open.ts servers/ programs/ ./' },
  'open.ts': {
    inside: 'servers/ programs/ ./',
    outside: 'node:fs process.env',
    types: 'node:test',
  },
  'servers/': {
    inside: 'programs/ ./',
    outside: `
      playwright-core node:child_process node:crypto node:events node:fs node:net node:path node:util
      process.env`,
  },
  'programs/': {
    inside: './',
    outside:
      'node:child_process node:events node:fs node:http node:os node:path node:stream process.env',
  },
  'otlp/': {},
  './': {
    outside: `
      @lydell/node-pty node:child_process node:crypto node:events node:fs node:net node:os node:path
      node:timers process.env`,
    types: 'servers/',
    because: 'The test servers do not depend on other packages of this repository.',
  },
}
