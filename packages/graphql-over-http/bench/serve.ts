// Runs one contender: serve.ts FILE GRAPHQL_MAJOR

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { parseMajor, useOneGraphql } from './one-graphql.ts'
import type { Usage } from './server-process.ts'

const [file = '', graphql] = process.argv.slice(2)
useOneGraphql(parseMajor(graphql))
const { listen } = await import(pathToFileURL(join(import.meta.dirname, file)).href)

answerParent(async (): Promise<Usage> => {
  const { user, system } = process.cpuUsage()
  return { cpuSeconds: (user + system) / 1e6 }
})
process.send?.({ port: await listen() })
