import type { PackageTable } from '../table.ts'

export const limiter: PackageTable = {
  './': { outside: '@portcullis/ratelimit' },
  'use/': { outside: '@portcullis/ratelimit/use' },
}
