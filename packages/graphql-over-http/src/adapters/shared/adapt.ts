import { openHandler } from '../../handler.ts'
import type { HandlerOptions, OperationContext } from '../../options.ts'
import type { Request, Response } from '../../request.ts'
import {
  type AdapterOptions,
  adapterOptionNames,
  type BodyLimits,
  parseBodyLimits,
} from './adapter-options.ts'
import { explain, internalError, reportFailure } from './error-responses.ts'
import { refuseHost } from './wrong-host.ts'

/** The two translations that make an adapter. Hosts pass one or two arguments per request. */
export interface Translation<Native, Companion, Raw, RequestContext, Answer> {
  /** The file name of the adapter. */
  readonly host: string
  /** Whether these are the arguments of the host. It runs for every request, so it must be fast. */
  readonly isHost: (native: Native, companion: Companion) => boolean
  readonly toRequest: (
    native: Native,
    companion: Companion,
    limits: BodyLimits,
  ) => Request<Raw, RequestContext>
  readonly answer: (
    response: Response,
    vary: boolean,
    native: Native,
    companion: Companion,
  ) => Answer
}

/**
 * Runs the handler between the two translations. An exception in an option never reaches the host.
 */
export function adapt<
  Native,
  Companion,
  Raw,
  RequestContext,
  Context extends OperationContext,
  Answer,
>(
  options: HandlerOptions<Raw, RequestContext, Context> & AdapterOptions,
  { host, isHost, toRequest, answer }: Translation<Native, Companion, Raw, RequestContext, Answer>,
): (native: Native, companion: Companion) => Promise<Answer> {
  const handle = openHandler(options, adapterOptionNames)
  const limits = parseBodyLimits(options)
  const vary = options.vary === true
  return async (native, companion) => {
    if (!isHost(native, companion)) return refuseHost(host, native, companion) as Answer
    try {
      const response = await handle(toRequest(native, companion, limits))
      return answer(explain(response), vary, native, companion)
    } catch (error) {
      reportFailure(error)
      return answer(internalError, false, native, companion)
    }
  }
}
