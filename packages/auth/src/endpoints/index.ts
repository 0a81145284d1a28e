import type { Endpoint } from '../http/endpoint.ts'
import { adminAudit } from './admin/audit.ts'
import { adminCreateUser, adminCreateUserWithId } from './admin/create-user.ts'
import { adminDeleteUser } from './admin/delete-user.ts'
import { adminDeleteFactor, adminListFactors, adminUpdateFactor } from './admin/factors.ts'
import { adminGenerateLink } from './admin/generate-link.ts'
import { adminGetUser } from './admin/get-user.ts'
import { adminListUsers } from './admin/list-users.ts'
import { adminDeletePasskey, adminListPasskeys } from './admin/passkeys.ts'
import { adminEndSession, adminListSessions, adminRevokeAllSessions } from './admin/sessions.ts'
import { adminSignInFailures, adminSignIns } from './admin/sign-ins.ts'
import { adminUpdateUser } from './admin/update-user.ts'
import { authorize } from './authorize.ts'
import { callback, callbackByForm } from './callback.ts'
import { confirmLinking, decideLinking } from './confirm-linking.ts'
import { challengeFactor } from './factors/challenge.ts'
import { enrollFactor } from './factors/enroll.ts'
import {
  countRecoveryCodes,
  generateRecoveryCodes,
  regenerateRecoveryCodes,
  removeRecoveryCodes,
  verifyRecoveryCode,
} from './factors/recovery-codes.ts'
import { unenrollFactor } from './factors/unenroll.ts'
import { verifyFactor } from './factors/verify.ts'
import { getUser } from './get-user.ts'
import { health } from './health.ts'
import { invite } from './invite.ts'
import { jwks } from './jwks.ts'
import { logout } from './logout.ts'
import { magiclink } from './magiclink.ts'
import { createOpenApi } from './openapi.ts'
import { otp } from './otp.ts'
import {
  passkeyAuthenticationOptions,
  passkeyAuthenticationVerify,
} from './passkeys/authentication.ts'
import { deleteOwnPasskey, listOwnPasskeys, updateOwnPasskey } from './passkeys/management.ts'
import { passkeyRegistrationOptions, passkeyRegistrationVerify } from './passkeys/registration.ts'
import { putUser } from './put-user.ts'
import { ready } from './ready.ts'
import { reauthenticate } from './reauthenticate.ts'
import { recover } from './recover.ts'
import { resend } from './resend.ts'
import { endOwnSession } from './sessions/end-session.ts'
import { listOwnSessions } from './sessions/list-sessions.ts'
import { settings } from './settings.ts'
import { signup } from './signup.ts'
import { token } from './token.ts'
import { linkUserIdentity, unlinkUserIdentity } from './user-identities.ts'
import { verifyGet } from './verify-get.ts'
import { verifyPost } from './verify-post.ts'

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
