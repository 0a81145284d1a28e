import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createHandler } from '../../src/adapters/uws.ts'
import { runtimesFolder } from '../installs.ts'
import { schema } from '../schema.ts'

const module = join(runtimesFolder, 'node_modules', 'uws-pack', 'dist', 'index.mjs')
const { App, us_socket_local_port } = await import(pathToFileURL(module).href)

export function listen(): Promise<number> {
  return new Promise((resolve, reject) => {
    App()
      .any('/graphql', createHandler({ schema }))
      .listen('127.0.0.1', 0, (socket: object | false) => {
        if (socket) resolve(us_socket_local_port(socket))
        else reject(new Error('uWebSockets could not listen'))
      })
  })
}
