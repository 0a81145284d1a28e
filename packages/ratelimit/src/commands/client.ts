import { readFile } from 'node:fs/promises'
import { fromBinary, toJsonString } from '@bufbuild/protobuf'
import { status } from '@portcullis/grpc-unary'
import {
  type GrpcClient,
  type GrpcClientOptions,
  openGrpcClient,
} from '@portcullis/grpc-unary/client'
import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import type { Command, CommandIo } from '@portcullis/service-kit/cli/command'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { encodeRequest } from '../protocol/encode.ts'
import { RateLimitResponseSchema } from '../protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { toResponseText } from '../protocol/response-text.ts'
import {
  type ClientFlags,
  FlagError,
  parseClientFlags,
  toFlagHelp,
  toFlagLines,
} from './client-flags.ts'

const method = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
const deadlineMs = 30_000

const usage = `Usage: ratelimit client -domain NAME -descriptors ENTRIES [OPTION…]

Sends a rate limit request to a server and shows the response. A call times out
after 30 seconds.

Options:
${toFlagHelp()}
Options take one or two dashes, and "-name value" or "-name=value".

Exit codes: 0 if the server responds with OK or OVER_LIMIT, 1 on failure, 2 for
invalid arguments.
`

export const client: Command = {
  summary: 'send a rate limit request to a server',
  usage,
  async run(args, io) {
    try {
      const flags = parseClientFlags(args)
      if (!flags.json) io.stdout.write(toFlagLines(flags))
      for (const note of toNotes(flags)) io.stderr.write(`${note}\n`)
      await callServer(flags, io)
      return 0
    } catch (error) {
      if (error instanceof FlagError) {
        io.stderr.write(toArgumentError('ratelimit client', error.message))
        return 2
      }
      if (!(error instanceof CallError)) throw error
      io.stdout.write(`${error.message}\n`)
      return 1
    }
  },
}

/** Warns about flags that have no effect. */
function toNotes(flags: ClientFlags): string[] {
  const notes: string[] = []
  if (flags['oltp-protocol'] !== '')
    notes.push('-oltp-protocol is ignored, because this client sends no traces.')
  const { 'grpc-server-ca-file': ca, 'grpc-cert-file': cert, 'grpc-use-tls': usesTls } = flags
  if (!usesTls && (ca !== '' || cert !== '')) {
    notes.push('The TLS files are ignored without -grpc-use-tls.')
  }
  return notes
}

/** The call failed. The message says why. */
class CallError extends Error {
  override readonly name = 'CallError'
}

async function callServer(flags: ClientFlags, io: CommandIo): Promise<void> {
  const { domain, descriptors, hits_addend: hitsAddend } = flags
  const { buffer, length } = encodeRequest({ domain, descriptors, hitsAddend })
  const message = Buffer.from(buffer.subarray(0, length))
  await using server = await connect(flags)
  for (let sent = 0; sent < flags.count; sent++) {
    const response = await callService(server, message)
    io.stdout.write(`${toLine(response, flags.json)}\n`)
  }
}

function toLine(response: Buffer, asJson: boolean): string {
  try {
    return asJson
      ? toJsonString(RateLimitResponseSchema, fromBinary(RateLimitResponseSchema, response))
      : `response: ${toResponseText(response)}`
  } catch (error) {
    throw toRequestError(status.INTERNAL, `the response is malformed: ${toMessage(error)}`)
  }
}

async function connect(flags: ClientFlags): Promise<GrpcClient> {
  try {
    const tls = flags['grpc-use-tls'] ? { tls: await readTlsFiles(flags) } : {}
    // As in Go, the host is optional.
    const address = flags.dial_string.replace(/^:/, 'localhost:').replace(/^dns:(\/\/\/)?/, '')
    return await openGrpcClient({ address, ...tls })
  } catch (error) {
    throw new CallError(`error connecting: ${toMessage(error)}`)
  }
}

async function readTlsFiles(flags: ClientFlags): Promise<NonNullable<GrpcClientOptions['tls']>> {
  const [ca, cert, key] = await Promise.all([
    readOptional(flags['grpc-server-ca-file']),
    readOptional(flags['grpc-cert-file']),
    readOptional(flags['grpc-key-file']),
  ])
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
}

async function readOptional(path: string): Promise<Buffer | undefined> {
  return path === '' ? undefined : await readFile(path)
}

async function callService(server: GrpcClient, request: Buffer): Promise<Buffer> {
  const { code, message, response } = await server.call(method, request, { deadlineMs })
  if (code === status.OK) return response
  throw toRequestError(code, message)
}

function toRequestError(code: number, text: string): CallError {
  return new CallError(`request error: rpc error: code = ${toCodeName(code)} desc = ${text}`)
}

/** The names that Go uses: InvalidArgument, and Canceled with one l. */
function toCodeName(code: number): string {
  if (code === status.CANCELLED) return 'Canceled'
  const name = Object.entries(status).find(([, number]) => number === code)?.[0]
  if (name === undefined) return `Code(${code})`
  const words = name.toLowerCase().split('_')
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
