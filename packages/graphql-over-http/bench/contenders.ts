import type { InstallLocation } from './installs.ts'
import type { GraphqlMajor } from './one-graphql.ts'

export interface Contender {
  readonly label: string
  readonly kind: 'ours' | 'peer' | 'yardstick'
  /** A module of this folder that exports `listen`. */
  readonly file: string
  readonly home: InstallLocation
  /** The package whose version goes into the results. */
  readonly package?: string
  /** Versions of graphql that it supports. Default: both. */
  readonly graphql?: readonly GraphqlMajor[]
}

/** All contenders; a new one is registered here. */
const table = {
  'portcullis-http': {
    label: 'Portcullis on node http',
    kind: 'ours',
    file: 'contenders/portcullis-http.ts',
    home: 'root',
  },
  'portcullis-rules': {
    label: 'Portcullis on node http, a list of rules',
    kind: 'ours',
    file: 'contenders/portcullis-rules.ts',
    home: 'root',
  },
  'portcullis-parse': {
    label: 'Portcullis on node http, own parse',
    kind: 'ours',
    file: 'contenders/portcullis-parse.ts',
    home: 'root',
  },
  'portcullis-fastify': {
    label: 'Portcullis on fastify',
    kind: 'ours',
    file: 'contenders/portcullis-fastify.ts',
    home: 'root',
    package: 'fastify',
  },
  'portcullis-express': {
    label: 'Portcullis on express',
    kind: 'ours',
    file: 'contenders/portcullis-express.ts',
    home: 'root',
    package: 'express',
  },
  'portcullis-uws': {
    label: 'Portcullis on uWebSockets',
    kind: 'ours',
    file: 'contenders/portcullis-uws.ts',
    home: 'runtimes',
    package: 'uws-pack',
  },
  'portcullis-jit': {
    label: 'Portcullis on node http + graphql-jit',
    kind: 'ours',
    file: 'peers/portcullis-jit.mjs',
    home: 'peers',
    package: 'graphql-jit',
  },
  'graphql-http': {
    label: 'graphql-http on node http',
    kind: 'peer',
    file: 'peers/graphql-http.mjs',
    home: 'peers',
    package: 'graphql-http',
  },
  'graphql-yoga': {
    label: 'graphql-yoga on node http',
    kind: 'peer',
    file: 'peers/graphql-yoga.mjs',
    home: 'peers',
    package: 'graphql-yoga',
  },
  mercurius: {
    label: 'mercurius on fastify',
    kind: 'peer',
    file: 'peers/mercurius.mjs',
    home: 'peers',
    package: 'mercurius',
    graphql: [16],
  },
  'mercurius-jit': {
    label: 'mercurius on fastify + graphql-jit',
    kind: 'peer',
    file: 'peers/mercurius-jit.mjs',
    home: 'peers',
    package: 'mercurius',
    graphql: [16],
  },
  'apollo-server': {
    label: 'Apollo Server, standalone',
    kind: 'peer',
    file: 'peers/apollo-server.mjs',
    home: 'peers',
    package: '@apollo/server',
    graphql: [16],
  },
  limit: {
    label: 'limit: only execute() on node http',
    kind: 'yardstick',
    file: 'contenders/execute-limit.ts',
    home: 'root',
  },
  'bare-http': {
    label: 'a constant on node http',
    kind: 'yardstick',
    file: 'contenders/bare-http.ts',
    home: 'root',
  },
} as const satisfies { readonly [name: string]: Contender }

export type ContenderName = keyof typeof table

export const contenders: Readonly<Record<ContenderName, Contender>> = table

export const contenderNames = Object.keys(table) as readonly ContenderName[]

export const isContender = (name: string): name is ContenderName => Object.hasOwn(table, name)
