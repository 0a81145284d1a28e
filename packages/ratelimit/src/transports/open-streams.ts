import { type Method, type Methods, type StreamCall, status } from '@portcullis/grpc-unary'

export interface OpenStreams {
  /** The methods, whose streams are tracked. */
  readonly methods: Methods
  /** Ends every open stream. */
  end(): void
}

/** Streams such as health Watch can last forever, so they are ended at shutdown. */
export function trackStreams(methods: Methods): OpenStreams {
  const open = new Map<StreamCall, () => void>()
  const track = (method: Method): Method => {
    if (method.kind !== 'stream') return method
    return {
      kind: 'stream',
      open(call) {
        const handler = method.open(call)
        open.set(call, () => void handler.cancel?.())
        return {
          message(message) {
            const returned = handler.message(message)
            forgetEnded(call)
            return returned
          },
          halfClose() {
            const returned = handler.halfClose?.()
            forgetEnded(call)
            return returned
          },
          cancel() {
            open.delete(call)
            return handler.cancel?.()
          },
        }
      },
    }
  }
  const forgetEnded = (call: StreamCall) => {
    if (!call.isOpen) open.delete(call)
  }
  const entries = Object.entries(methods).map(([path, method]) => [path, track(method)] as const)
  return {
    methods: Object.fromEntries(entries),
    end() {
      for (const [call, cancel] of [...open]) {
        open.delete(call)
        cancel()
        call.fail(status.UNAVAILABLE, 'the server is stopping')
      }
    },
  }
}
