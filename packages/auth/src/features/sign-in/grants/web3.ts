import { ApiError } from '../../../errors.ts'
import type { Grant } from './grant.ts'

/** Wallets are not part of this server; the client is told as by one that has them switched off. */
export const web3Grant: Grant = () =>
  Promise.reject(new ApiError('web3_provider_disabled', 'Web3 provider is disabled'))
