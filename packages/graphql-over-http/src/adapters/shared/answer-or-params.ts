import { parseRequestParams } from '../../params.ts'
import {
  BodyError,
  isResponse,
  type Request,
  type RequestParams,
  type Response,
} from '../../request.ts'
import { explain } from './error-responses.ts'

/**
 * Returns the parameters of a request. If the request breaks the protocol, returns what `answer`
 * makes of the error response instead. Malformed parameters throw.
 */
export async function answerOrParams<Raw, Context, Answered>(
  req: Request<Raw, Context>,
  answer: (response: Response) => Answered,
): Promise<RequestParams | Answered> {
  try {
    const parsed = await parseRequestParams(req)
    return isResponse(parsed) ? answer(explain(parsed)) : parsed
  } catch (error) {
    if (error instanceof BodyError) return answer(explain(error.response))
    throw error
  }
}
