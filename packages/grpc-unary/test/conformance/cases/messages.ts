import { flag, frameType } from '../../../src/http2/frames.ts'
import { frame, headerBlock, requestFields } from '../../support/raw-client.ts'
import {
  answered,
  type Case,
  type Cases,
  completeCall,
  END,
  hello,
  openCall,
  request,
  reset,
  SAY,
} from '../case.ts'

type Fields = Readonly<Record<string, string>>

const call = requestFields(SAY)
const { ':path': _path, ...withoutPath } = call
const { ':method': _method, ...withoutMethod } = call
const { ':scheme': _scheme, ...withoutScheme } = call

/** A request that is malformed (RFC 9113 8.1.1). */
function malformed(fields: Fields): Case {
  return { sends: [request(1, fields), completeCall(3)], expect: reset(1, 'PROTOCOL_ERROR') }
}

function malformedBlock(...fields: readonly Fields[]): Case {
  const block = Buffer.concat(fields.map(headerBlock))
  return {
    sends: [frame(frameType.HEADERS, END, 1, block), completeCall(3)],
    expect: reset(1, 'PROTOCOL_ERROR'),
  }
}

/** A body of 10 bytes split at these positions, with `contentLength` in the headers. */
function body(contentLength: string, ...cuts: readonly number[]): Uint8Array[] {
  const fields = { ...call, 'content-length': contentLength }
  const edges = [0, ...cuts, hello.length]
  const pieces = edges.slice(1).map((end, index) => hello.subarray(edges[index], end))
  return [
    frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock(fields)),
    ...pieces.map((piece, index) => {
      const isLast = index === pieces.length - 1
      return frame(frameType.DATA, isLast ? flag.END_STREAM : 0, 1, piece)
    }),
  ]
}

/** RFC 9113 section 8: requests and responses. */
export const messages: Cases = {
  '8.1: a GET request is answered, but not as a call': {
    sends: [request(1, { ...call, ':method': 'GET' })],
    expect: answered(1, '405'),
  },
  '8.1: a HEAD request is answered without content': {
    sends: [request(1, { ...call, ':method': 'HEAD' })],
    expect: (output) =>
      answered(1, '405')(output) ??
      (output.frames.some(({ type, payload }) => type === frameType.DATA && payload.length > 0)
        ? 'there is content'
        : undefined),
  },
  '8.1: a POST request that is not gRPC is answered': {
    sends: [request(1, { ...call, 'content-type': 'text/plain' })],
    expect: answered(1, '415'),
  },
  '8.1: a request with trailers is answered': {
    sends: [
      openCall(1),
      frame(frameType.DATA, 0, 1, hello),
      frame(frameType.HEADERS, END, 1, headerBlock({ 'x-trailer': '1' })),
    ],
    expect: answered(1),
  },
  '8.1: a second header block that does not end the stream': {
    sends: [
      openCall(1),
      frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock({ 'x-trailer': '1' })),
    ],
    expect: reset(1, 'PROTOCOL_ERROR'),
  },
  '8.1: a pseudo-header field in trailers': {
    sends: [openCall(1), frame(frameType.HEADERS, END, 1, headerBlock({ ':method': 'POST' }))],
    expect: reset(1, 'PROTOCOL_ERROR'),
  },
  '8.1: a connection-specific field in trailers': {
    sends: [openCall(1), frame(frameType.HEADERS, END, 1, headerBlock({ upgrade: 'h2c' }))],
    expect: reset(1, 'PROTOCOL_ERROR'),
  },

  '8.1.1: content-length that fits one DATA frame': { sends: body('10'), expect: answered(1) },
  '8.1.1: content-length that fits several': { sends: body('10', 3, 7), expect: answered(1) },
  '8.1.1: content-length other than the DATA frame': {
    sends: body('1'),
    expect: reset(1, 'PROTOCOL_ERROR'),
  },
  '8.1.1: content-length other than the sum of the DATA frames': {
    sends: body('11', 4),
    expect: reset(1, 'PROTOCOL_ERROR'),
  },
  '8.1.1: content-length without any DATA': malformed({ ...call, 'content-length': '1' }),
  '8.1.1: content-length that is not a number': malformed({ ...call, 'content-length': '+1' }),
  '8.1.1: two values of content-length': malformedBlock(
    { ...call, 'content-length': '0' },
    { 'content-length': '1' },
  ),

  '8.2: a name in upper case': malformed({ ...call, 'X-TEST': 'ok' }),
  '8.2.1: an empty name': malformed({ ...call, '': 'x' }),
  '8.2.1: a name with a space': malformed({ ...call, 'x y': 'z' }),
  '8.2.1: a name with a colon inside': malformed({ ...call, 'x:y': 'z' }),
  '8.2.1: a name beyond ASCII': malformed({ ...call, 'x-\u00e9': 'z' }),
  '8.2.1: a value with NUL': malformed({ ...call, x: 'a\0b' }),
  '8.2.1: a value with a carriage return': malformed({ ...call, x: 'a\rb' }),
  '8.2.1: a value with a line feed': malformed({ ...call, x: 'a\nb' }),
  '8.2.1: a value with a space before it': malformed({ ...call, x: ' a' }),
  '8.2.1: a value with a tab after it': malformed({ ...call, x: 'a\t' }),
  '8.2.1: a value with bytes beyond ASCII is accepted': {
    sends: [request(1, { ...call, x: 'caf\u00e9', ':method': 'GET' })],
    expect: answered(1, '405'),
  },

  '8.2.2: connection': malformed({ ...call, connection: 'keep-alive' }),
  '8.2.2: keep-alive': malformed({ ...call, 'keep-alive': 'timeout=5' }),
  '8.2.2: proxy-connection': malformed({ ...call, 'proxy-connection': 'keep-alive' }),
  '8.2.2: transfer-encoding': malformed({ ...call, 'transfer-encoding': 'chunked' }),
  '8.2.2: upgrade': malformed({ ...call, upgrade: 'websocket' }),
  '8.2.2: te other than trailers': malformed({ ...call, te: 'trailers, deflate' }),

  '8.3: an unknown pseudo-header field': malformedBlock({ ':test': 'ok' }, call),
  '8.3: a pseudo-header field of responses': malformedBlock({ ':status': '200' }, call),
  '8.3: a pseudo-header field after other fields': malformedBlock(
    withoutPath,
    { x: 'y' },
    { ':path': SAY },
  ),
  '8.3.1: an empty path': malformed({ ...call, ':path': '' }),
  '8.3.1: no path': malformed(withoutPath),
  '8.3.1: no method': malformed(withoutMethod),
  '8.3.1: no scheme': malformed(withoutScheme),
  '8.3.1: two paths': malformedBlock({ ':path': SAY }, call),
  '8.3.1: two methods': malformedBlock({ ':method': 'POST' }, call),
  '8.3.1: two schemes': malformedBlock({ ':scheme': 'http' }, call),
  '8.3.1: two authorities': malformedBlock({ ':authority': 'test' }, call),

  '8.5: CONNECT with a path': malformed({ ...call, ':method': 'CONNECT' }),
  '8.5: CONNECT without an authority': malformed({ ':method': 'CONNECT' }),
  '8.5: CONNECT is answered': {
    sends: [request(1, { ':method': 'CONNECT', ':authority': 'test:443' })],
    expect: answered(1, '405'),
  },
}
