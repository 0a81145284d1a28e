import { getExplanation, type Response } from '../../request.ts'

/** Gives a refusal of the core its message as a body; returns any other response as it is. */
export function explain(response: Response): Response {
  if (response[0] !== null) return response
  const message = getExplanation(response)
  if (message === undefined) return response
  const [, init] = response
  const headers = { ...init.headers, 'content-type': 'application/json; charset=utf-8' }
  return [JSON.stringify({ errors: [{ message }] }), { ...init, headers }]
}
