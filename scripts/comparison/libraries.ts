/** A library to compare. */
export interface Library {
  /** The name of its files in programs/. */
  readonly id: string
  /** The heading of its column. */
  readonly name: string
  /** The packages that its users install, besides the framework or `graphql`. */
  readonly packages: readonly string[]
  /** Whether `packages` come from this repository. */
  readonly isOurs?: boolean
  /** Frameworks and plug-ins for the probes and programs. They are not counted. */
  readonly extras: readonly string[]
  /** The import whose bundle is measured. */
  readonly bundle: string
}

const express = 'express@5.3.0'
const fastify = 'fastify@5.12.8'
const ioredis = 'ioredis@6.0.0'

export const limiters: readonly Library[] = [
  {
    id: 'portcullis',
    name: '@portcullis/limiter',
    packages: ['@portcullis/limiter'],
    isOurs: true,
    extras: [express, fastify],
    bundle:
      "export { createRateLimiter, ipKey } from '@portcullis/limiter'\n" +
      "export { limitRequests } from '@portcullis/limiter/use/express'",
  },
  {
    id: 'express-rate-limit',
    name: 'express-rate-limit 8.7.4',
    packages: ['express-rate-limit@8.7.4'],
    extras: [express, fastify, ioredis, 'rate-limit-redis@6.0.1'],
    bundle: "export { rateLimit } from 'express-rate-limit'",
  },
  {
    id: 'fastify-rate-limit',
    name: '@fastify/rate-limit 11.2.0',
    packages: ['@fastify/rate-limit@11.2.0'],
    extras: [express, fastify, ioredis],
    bundle: "export { default } from '@fastify/rate-limit'",
  },
  {
    id: 'rate-limiter-flexible',
    name: 'rate-limiter-flexible 11.4.0',
    packages: ['rate-limiter-flexible@11.4.0'],
    extras: [express, fastify, ioredis],
    bundle: "export { RateLimiterMemory } from 'rate-limiter-flexible'",
  },
  {
    id: 'upstash',
    name: '@upstash/ratelimit 2.2.0',
    packages: ['@upstash/ratelimit@2.2.0', '@upstash/redis@1.39.0'],
    extras: [express, ioredis],
    bundle:
      "export { Ratelimit } from '@upstash/ratelimit'\nexport { Redis } from '@upstash/redis'",
  },
]

const graphql = 'graphql@16.15.0'
const armor = [
  '@escape.tech/graphql-armor-max-aliases@2.6.2',
  '@escape.tech/graphql-armor-max-depth@2.4.2',
  '@escape.tech/graphql-armor-max-tokens@2.5.1',
]

export const graphqlServers: readonly Library[] = [
  {
    id: 'portcullis',
    name: '@portcullis/graphql-over-http',
    packages: ['@portcullis/graphql-over-http'],
    isOurs: true,
    extras: [graphql],
    bundle:
      "export { maskErrors } from '@portcullis/graphql-over-http/mask-errors'\n" +
      "export { createHandler } from '@portcullis/graphql-over-http/use/http'",
  },
  {
    id: 'graphql-http',
    name: 'graphql-http 1.23.1',
    packages: ['graphql-http@1.23.1'],
    extras: [graphql, ...armor],
    bundle: "export { createHandler } from 'graphql-http/lib/use/http'",
  },
  {
    id: 'graphql-yoga',
    name: 'GraphQL Yoga 5.24.1',
    packages: ['graphql-yoga@5.24.1'],
    extras: [
      graphql,
      ...armor,
      '@graphql-yoga/plugin-apq@3.6.2',
      '@graphql-yoga/plugin-csrf-prevention@3.24.1',
      '@graphql-yoga/plugin-defer-stream@3.24.1',
      '@graphql-yoga/plugin-persisted-operations@3.24.1',
    ],
    bundle: "export { createYoga } from 'graphql-yoga'",
  },
  {
    id: 'apollo-server',
    name: 'Apollo Server 5.5.1',
    packages: ['@apollo/server@5.5.1'],
    extras: [graphql, ...armor],
    bundle:
      "export { ApolloServer } from '@apollo/server'\n" +
      "export { startStandaloneServer } from '@apollo/server/standalone'",
  },
]
