import type { Health } from '@portcullis/service-kit/health'
import type { HttpHandler } from './http-listener.ts'

/** `/healthcheck`, for any method: 200 with `OK`, or 500 without a word. */
export function createHealthCheckHandler(health: Pick<Health, 'isHealthy'>): HttpHandler {
  return (_request, response) => {
    if (health.isHealthy) {
      response.writeHead(200, {
        'content-type': 'text/plain; charset=utf-8',
        'content-length': 2,
      })
      response.end('OK')
    } else {
      response.writeHead(500, { 'content-length': 0 })
      response.end()
    }
  }
}
