import type { PackageTable } from '../table.ts'

export const benchKit: PackageTable = {
  './': {
    outside: `
      @portcullis/service-kit node:child_process node:events node:fs node:net node:os node:path node:process node:timers
      node:url node:util process.env`,
    because: 'It is a tool for the benchmarks, which are separate programs.',
  },
}
