import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import express from 'express'
import { createHandler, type RequestContext } from '../../../src/adapters/express.ts'
import type { Host, Limits } from './host.ts'
import { mount } from './mount.ts'
import { nodeHost } from './node-host.ts'

const require = createRequire(import.meta.url)
// The older major version has no types under its alias; the API used here is the same.
const express4: typeof express = require('express-4')

const readsBodyItself = 'the parser has a limit, and stops reading there'
const parsesBodyItself = 'express.json() answers malformed JSON as HTML'
const decodesBodyItself = 'express.text() replaces what is not UTF-8'
const limit = '1mb'

export const expressHosts: readonly Host[] = [
  expressHost('express 4', express4),
  expressHost('express 5', express),
  expressHost('express 4 with express.json()', express4, express4.json({ limit }), {
    readsBodyItself,
    parsesBodyItself,
  }),
  expressHost('express 5 with express.json()', express, express.json({ limit }), {
    readsBodyItself,
    parsesBodyItself,
  }),
  expressHost('express 5 with express.text()', express, express.text({ limit, type: '*/*' }), {
    readsBodyItself,
    decodesBodyItself,
  }),
  expressHost('express 5 with express.raw()', express, express.raw({ limit, type: '*/*' }), {
    readsBodyItself,
  }),
  expressHost(
    'express 4 with express.urlencoded()',
    express4,
    express4.urlencoded({ extended: false }),
  ),
]

function expressHost(
  name: string,
  framework: typeof express,
  parser?: express.RequestHandler,
  limits: Limits = {},
): Host {
  return nodeHost(
    name,
    (probe) => {
      const app = framework()
      // Otherwise express prints the errors of body parsers.
      app.set('env', 'test')
      if (parser) app.use(parser)
      const handlers = mount(
        probe,
        ({ res }: RequestContext, header, value) => {
          res.setHeader(header, value)
        },
        createHandler,
      )
      for (const [path, handler] of handlers) app.all(path, handler)
      return createServer(app)
    },
    limits,
  )
}
