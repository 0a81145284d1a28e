import { createServer } from 'node:http'
import express from 'express'
import { createHandler } from '../../src/adapters/express.ts'
import { schema } from '../schema.ts'
import { listenOn } from './listen.ts'

const app = express()
app.all('/graphql', createHandler({ schema }))

export const listen = () => listenOn(createServer(app))
