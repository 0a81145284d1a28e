import type { Endpoint } from '../http/endpoint.ts'
import { getUser, putUser, reauthenticate } from './account/endpoints.ts'
import { adminAudit } from './admin/endpoints/audit.ts'
import { adminCreateUser, adminCreateUserWithId } from './admin/endpoints/create-user.ts'
import { adminDeleteUser } from './admin/endpoints/delete-user.ts'
import {
  adminDeleteFactor,
  adminListFactors,
  adminUpdateFactor,
} from './admin/endpoints/factors.ts'
import { adminGenerateLink } from './admin/endpoints/generate-link.ts'
import { adminGetUser } from './admin/endpoints/get-user.ts'
import { invite } from './admin/endpoints/invite.ts'
import { adminListUsers } from './admin/endpoints/list-users.ts'
import { adminDeletePasskey, adminListPasskeys } from './admin/endpoints/passkeys.ts'
import {
  adminEndSession,
  adminListSessions,
  adminRevokeAllSessions,
} from './admin/endpoints/sessions.ts'
import { adminSignInFailures, adminSignIns } from './admin/endpoints/sign-ins.ts'
import { adminUpdateUser } from './admin/endpoints/update-user.ts'
import { authorize } from './external/endpoints/authorize.ts'
import { callback, callbackByForm } from './external/endpoints/callback.ts'
import { confirmLinking, decideLinking } from './external/endpoints/confirm-linking.ts'
import { linkUserIdentity, unlinkUserIdentity } from './external/endpoints/user-identities.ts'
import { challengeFactor } from './factors/endpoints/challenge.ts'
import { enrollFactor } from './factors/endpoints/enroll.ts'
import {
  countRecoveryCodes,
  generateRecoveryCodes,
  regenerateRecoveryCodes,
  removeRecoveryCodes,
  verifyRecoveryCode,
} from './factors/endpoints/recovery-codes.ts'
import { unenrollFactor } from './factors/endpoints/unenroll.ts'
import { verifyFactor } from './factors/endpoints/verify.ts'
import { verifyGet, verifyPost } from './one-time-codes/endpoints.ts'
import {
  passkeyAuthenticationOptions,
  passkeyAuthenticationVerify,
} from './passkeys/endpoints/authentication.ts'
import {
  deleteOwnPasskey,
  listOwnPasskeys,
  updateOwnPasskey,
} from './passkeys/endpoints/management.ts'
import {
  passkeyRegistrationOptions,
  passkeyRegistrationVerify,
} from './passkeys/endpoints/registration.ts'
import { recover, resend } from './recovery/endpoints.ts'
import { health } from './server/health.ts'
import { jwks } from './server/jwks.ts'
import { createOpenApi } from './server/openapi.ts'
import { ready } from './server/ready.ts'
import { settings } from './server/settings.ts'
import { endOwnSession, listOwnSessions, logout } from './sessions/endpoints.ts'
import { magiclink, otp, token } from './sign-in/endpoints.ts'
import { signup } from './sign-up/endpoints.ts'

/** The route table. Router, description of the API and documentation come from it. */
const table: readonly Endpoint[] = [
  health,
  ready,
  settings,
  signup,
  token,
  verifyGet,
  verifyPost,
  otp,
  magiclink,
  recover,
  resend,
  getUser,
  putUser,
  reauthenticate,
  logout,
  authorize,
  callback,
  callbackByForm,
  linkUserIdentity,
  confirmLinking,
  decideLinking,
  unlinkUserIdentity,
  enrollFactor,
  challengeFactor,
  verifyFactor,
  unenrollFactor,
  countRecoveryCodes,
  generateRecoveryCodes,
  regenerateRecoveryCodes,
  verifyRecoveryCode,
  removeRecoveryCodes,
  passkeyRegistrationOptions,
  passkeyRegistrationVerify,
  passkeyAuthenticationOptions,
  passkeyAuthenticationVerify,
  listOwnPasskeys,
  updateOwnPasskey,
  deleteOwnPasskey,
  listOwnSessions,
  endOwnSession,
  invite,
  adminListUsers,
  adminCreateUser,
  adminCreateUserWithId,
  adminGetUser,
  adminUpdateUser,
  adminDeleteUser,
  adminListFactors,
  adminUpdateFactor,
  adminDeleteFactor,
  adminListPasskeys,
  adminDeletePasskey,
  adminListSessions,
  adminEndSession,
  adminRevokeAllSessions,
  adminGenerateLink,
  adminAudit,
  adminSignIns,
  adminSignInFailures,
  jwks,
]

export const endpoints: readonly Endpoint[] = [...table, createOpenApi(table)]
