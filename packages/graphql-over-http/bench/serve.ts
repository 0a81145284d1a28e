// The process of one contender: serve.ts FILE GRAPHQL_MAJOR

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseMajor, useOneGraphql } from './one-graphql.ts'
import type { Usage } from './server-process.ts'

const [file = '', graphql] = process.argv.slice(2)
useOneGraphql(parseMajor(graphql))
const { listen } = await import(pathToFileURL(join(import.meta.dirname, file)).href)

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  const usage: Usage = { cpuSeconds: (user + system) / 1e6 }
  process.send?.(usage)
})
process.on('disconnect', () => process.exit())
process.send?.({ port: await listen() })
