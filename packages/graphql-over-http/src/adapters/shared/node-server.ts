import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { HandlerOptions, OperationContext } from '../../options.ts'
import type { Request, RequestParams } from '../../request.ts'
import { adapt } from './adapt.ts'
import { type AdapterOptions, type BodyLimits, parseBodyLimits } from './adapter-options.ts'
import { answerOrParams } from './answer-or-params.ts'
import { HostRequest } from './host-request.ts'
import { readNodeBody } from './node-body.ts'
import { writeNodeResponse } from './node-response.ts'
import { openNodeSignal } from './node-signal.ts'
import { isNodeExchange } from './wrong-host.ts'

type NodeRequest = IncomingMessage | Http2ServerRequest
type NodeResponse = ServerResponse | Http2ServerResponse

/** The handler for Node's own HTTP/1 and HTTP/2 servers, which differ only in their types. */
export function createNodeHandler<
  Req extends NodeRequest,
  Res extends NodeResponse,
  Context extends OperationContext,
>(
  host: 'http' | 'http2',
  options: HandlerOptions<Req, { res: Res }, Context> & AdapterOptions,
): (req: Req, res: Res) => Promise<void> {
  return adapt(options, {
    host,
    isHost: isNodeExchange,
    toRequest: toRequest<Req, Res>,
    answer: writeNodeResponse,
  })
}

export async function parseNodeParams(
  req: NodeRequest,
  res: NodeResponse,
  options: AdapterOptions,
): Promise<RequestParams | null> {
  return answerOrParams(toRequest(req, res, parseBodyLimits(options)), (response) => {
    writeNodeResponse(response, options.vary === true, req, res)
    return null
  })
}

function toRequest<Req extends NodeRequest, Res extends NodeResponse>(
  req: Req,
  res: Res,
  limits: BodyLimits,
): Request<Req, { res: Res }> {
  const { url, method } = req
  if (!url) throw new Error('Missing request URL')
  if (!method) throw new Error('Missing request method')
  return new HostRequest(
    {
      url,
      method,
      headers: req.headers,
      body: () => readNodeBody(req, limits.read),
      raw: req,
      context: { res },
    },
    openNodeSignal,
    res,
  )
}
