import { createHandler } from '../../handler.ts'
import type { HandlerOptions, OperationContext } from '../../options.ts'
import type { Request, Response } from '../../request.ts'
import { type AdapterOptions, parseBodyLimit } from './adapter-options.ts'
import { internalError, reportFailure } from './failure.ts'

/** The two translations that make an adapter. Hosts hand over one or two things per request. */
export interface Translation<Native, Companion, Raw, RequestContext, Answer> {
  readonly toRequest: (
    native: Native,
    companion: Companion,
    limitBytes: number,
  ) => Request<Raw, RequestContext>
  readonly answer: (
    response: Response,
    vary: boolean,
    native: Native,
    companion: Companion,
  ) => Answer
}

/** Puts the handler between the translations. An exception in an option never reaches the host. */
export function adapt<
  Native,
  Companion,
  Raw,
  RequestContext,
  Context extends OperationContext,
  Answer,
>(
  options: HandlerOptions<Raw, RequestContext, Context> & AdapterOptions,
  { toRequest, answer }: Translation<Native, Companion, Raw, RequestContext, Answer>,
): (native: Native, companion: Companion) => Promise<Answer> {
  const handle = createHandler(options)
  const limitBytes = parseBodyLimit(options)
  const vary = options.vary === true
  return async (native, companion) => {
    try {
      const response = await handle(toRequest(native, companion, limitBytes))
      return answer(response, vary, native, companion)
    } catch (error) {
      reportFailure(error)
      return answer(internalError, false, native, companion)
    }
  }
}
