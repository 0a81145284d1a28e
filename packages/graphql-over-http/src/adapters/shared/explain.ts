import { getExplanation, type Response } from '../../request.ts'

/**
 * Adds the message of a refusal from the core as a JSON body; returns any other response unchanged.
 */
export function explain(response: Response): Response {
  if (response[0] !== null) return response
  const message = getExplanation(response)
  if (message === undefined) return response
  const [, init] = response
  const headers = { ...init.headers, 'content-type': 'application/json; charset=utf-8' }
  return [JSON.stringify({ errors: [{ message }] }), { ...init, headers }]
}
