import { type Child, startChild } from '@portcullis/bench-kit/child'
import type { GraphqlMajor } from './one-graphql.ts'
import { productionEnvironment } from './server-process.ts'

/** Handlers that can be called without a server. Each module exports `handle`. */
export const handlers = {
  portcullis: { label: 'Portcullis', kind: 'ours', file: 'contenders/portcullis-handler.ts' },
  'graphql-http': { label: 'graphql-http', kind: 'peer', file: 'peers/graphql-http-handler.mjs' },
} as const

export type HandlerName = keyof typeof handlers

export const handlerNames = Object.keys(handlers) as readonly HandlerName[]

const halfAnHour = 30 * 60

export function startHandler(name: HandlerName, graphql: GraphqlMajor): Child {
  return startChild(new URL('./handle.ts', import.meta.url), {
    args: [handlers[name].file, String(graphql)],
    env: productionEnvironment,
    execArgv: ['--expose-gc'],
    replyTimeoutSeconds: halfAnHour,
  })
}
