import { once } from 'node:events'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { connect } from 'node:tls'
import { createGrpcServer } from '@portcullis/grpc-unary'
import { type GrpcResult, openGrpcClient } from '@portcullis/grpc-unary/client'
import { toMessage } from '@portcullis/service-kit/text/reason'
import type { Authority, Identity } from '@portcullis/test-servers'
import { loadGrpcTls } from '../../src/app/grpc-tls.ts'
import type { GrpcTlsConfig } from '../../src/config/listeners.ts'
import { collectLog } from './collected-log.ts'

export async function makeFolder(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ratelimit-tls-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Replaces a file atomically. */
export async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
}

export async function writePair(folder: string, { certificate, key }: Identity): Promise<void> {
  await replace(join(folder, 'tls.crt'), certificate)
  await replace(join(folder, 'tls.key'), key)
}

export function toPaths(folder: string, more: Partial<GrpcTlsConfig> = {}): GrpcTlsConfig {
  return {
    certPath: join(folder, 'tls.crt'),
    keyPath: join(folder, 'tls.key'),
    clientCaPath: undefined,
    clientSan: undefined,
    ...more,
  }
}

/** A gRPC listener with an echo method, which reloads its TLS files. */
export async function openTlsListener(t: TestContext, config: GrpcTlsConfig) {
  const { log, lines } = collectLog()
  const tls = await loadGrpcTls(config, log)
  const server = createGrpcServer({
    methods: {
      '/test.Echo/Say': {
        kind: 'unary',
        handle: (call) => call.send(call.buffer, call.start, call.end),
      },
    },
    tls: tls.options,
    report: (error) => lines.push(`report ${toMessage(error)}`),
  })
  const files = tls.follow(server.renewTls)
  t.after(async () => {
    await files[Symbol.asyncDispose]()
    await server.close()
  })
  const bound = await server.listen({ host: '127.0.0.1', port: 0 })
  return { lines, port: 'port' in bound ? bound.port : 0 }
}

/** The name in the certificate that the listener presents to a new connection. */
export async function readShownName(port: number): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  const { CN } = socket.getPeerCertificate().subject
  socket.destroy()
  return Array.isArray(CN) ? CN.join() : (CN ?? '')
}

/** Makes one call on a separate connection; if that fails, the message contains the reason. */
export async function callOnce(
  port: number,
  authority: Authority,
  identity?: Identity,
): Promise<Pick<GrpcResult, 'code' | 'message'>> {
  try {
    await using client = await openGrpcClient({
      address: `127.0.0.1:${port}`,
      tls: {
        ca: authority.certificate,
        checkServerIdentity: () => undefined,
        ...(identity && { cert: identity.certificate, key: identity.key }),
      },
    })
    return await client.call('/test.Echo/Say', Buffer.from('hi'))
  } catch (error) {
    return { code: -1, message: toMessage(error) }
  }
}
