import { status, type UnaryCall } from '@portcullis/grpc-unary'
import { WireError } from '../wire-format.ts'

/** Decodes the message of a call. Undefined if it is invalid; the call has failed then. */
export function decode<Decoded>(
  call: UnaryCall,
  decodeMessage: (message: Buffer) => Decoded,
): Decoded | undefined {
  try {
    return decodeMessage(call.buffer.subarray(call.start, call.end))
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    call.fail(status.INVALID_ARGUMENT, error.message)
    return undefined
  }
}

export function send(call: UnaryCall, message: Buffer): void {
  call.send(message, 0, message.length)
}
