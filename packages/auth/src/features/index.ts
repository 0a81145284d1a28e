import type { Endpoint } from '../http/endpoint.ts'
import { getUser, putUser, reauthenticate } from './account/endpoints.ts'
import { adminAudit, adminSignInFailures, adminSignIns } from './admin/endpoints/audit.ts'
import {
  adminDeleteFactor,
  adminDeletePasskey,
  adminListFactors,
  adminListPasskeys,
  adminUpdateFactor,
} from './admin/endpoints/credentials.ts'
import { adminEvents } from './admin/endpoints/events.ts'
import { adminGenerateLink, invite } from './admin/endpoints/links.ts'
import {
  adminEndSession,
  adminIssueUserToken,
  adminListSessions,
  adminRevokeAllSessions,
} from './admin/endpoints/sessions.ts'
import { adminMailTemplates, adminSettings, adminTestMail } from './admin/endpoints/settings.ts'
import {
  adminCreateUser,
  adminCreateUserWithId,
  adminDeleteUser,
  adminGetUser,
  adminListUsers,
  adminUpdateUser,
} from './admin/endpoints/users.ts'
import {
  adminCreateKey,
  adminCreateServiceAccount,
  adminDeleteServiceAccount,
  adminListKeys,
  adminListServiceAccounts,
  adminRevokeKey,
  adminRotateKey,
  verifyKey,
} from './api-keys/endpoints/admin-keys.ts'
import { extAuthz } from './api-keys/endpoints/ext-authz.ts'
import {
  createOwnKey,
  listOwnKeys,
  revokeOwnKey,
  rotateOwnKey,
} from './api-keys/endpoints/own-keys.ts'
import {
  adminCreateCustomProvider,
  adminDeleteCustomProvider,
  adminGetCustomProvider,
  adminListCustomProviders,
  adminUpdateCustomProvider,
} from './custom-providers/endpoints.ts'
import { authorize } from './external/endpoints/authorize.ts'
import { callbacks } from './external/endpoints/callback.ts'
import {
  confirmLinking,
  decideLinking,
  linkUserIdentity,
  unlinkUserIdentity,
} from './external/endpoints/identities.ts'
import {
  challengeFactor,
  countRecoveryCodes,
  enrollFactor,
  generateRecoveryCodes,
  regenerateRecoveryCodes,
  removeRecoveryCodes,
  unenrollFactor,
  verifyFactor,
  verifyRecoveryCode,
} from './factors/endpoints.ts'
import {
  adminCreateOAuthClient,
  adminDeleteOAuthClient,
  adminGetOAuthClient,
  adminListOAuthClients,
  adminRenewOAuthClientSecret,
  adminUpdateOAuthClient,
} from './oauth-clients/endpoints.ts'
import {
  pushAuthorizationRequest,
  startAuthorization,
  startAuthorizationByForm,
} from './oauth-server/endpoints/authorize.ts'
import {
  adminListGrants,
  adminRevokeGrant,
  decideConsent,
  getAuthorization,
  listOwnGrants,
  revokeOwnGrant,
} from './oauth-server/endpoints/consents.ts'
import {
  authorizeDevice,
  showDevicePage,
  submitDevicePage,
} from './oauth-server/endpoints/devices.ts'
import {
  authorizationServerMetadata,
  authorizationServerMetadataOfPath,
  openIdConfiguration,
  openIdConfigurationOfPath,
} from './oauth-server/endpoints/metadata.ts'
import { showConsentPage, submitConsentPage } from './oauth-server/endpoints/pages.ts'
import {
  changeOAuthRegistration,
  endOAuthRegistration,
  readOAuthRegistration,
  registerOAuthClient,
} from './oauth-server/endpoints/registration.ts'
import {
  introspectToken,
  oauthToken,
  revokeToken,
  userinfo,
  userinfoByPost,
} from './oauth-server/endpoints/tokens.ts'
import { verifyGet, verifyPost } from './one-time-codes/endpoints.ts'
import {
  deleteOwnPasskey,
  listOwnPasskeys,
  passkeyAuthenticationOptions,
  passkeyAuthenticationVerify,
  passkeyRegistrationOptions,
  passkeyRegistrationVerify,
  updateOwnPasskey,
} from './passkeys/endpoints.ts'
import { recover, resend } from './recovery/endpoints.ts'
import { revocations } from './revocations/endpoints.ts'
import { scimEndpoints } from './scim/endpoints/resources.ts'
import {
  adminCreateScimToken,
  adminDeleteScimToken,
  adminListScimTokens,
} from './scim/endpoints/tokens.ts'
import { createOpenApi, health, jwks, ready, settings } from './server/endpoints.ts'
import { endOwnSession, listOwnSessions, logout } from './sessions/endpoints.ts'
import { magiclink, otp } from './sign-in/endpoints/otp.ts'
import { token } from './sign-in/endpoints/token.ts'
import { signup } from './sign-up/endpoints.ts'
import {
  adminCreateSsoProvider,
  adminDeleteSsoProvider,
  adminGetSsoProvider,
  adminListSsoProviders,
  adminUpdateSsoProvider,
} from './sso/endpoints/providers.ts'
import { samlAcs, samlMetadata, startSsoSignIn } from './sso/endpoints/sign-in.ts'

/** The route table, from which the router, the OpenAPI document and the documentation are built. */
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
  ...callbacks,
  startSsoSignIn,
  samlMetadata,
  samlAcs,
  ...scimEndpoints,
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
  listOwnKeys,
  createOwnKey,
  rotateOwnKey,
  revokeOwnKey,
  verifyKey,
  ...extAuthz,
  revocations,
  startAuthorization,
  startAuthorizationByForm,
  getAuthorization,
  decideConsent,
  showConsentPage,
  submitConsentPage,
  authorizeDevice,
  showDevicePage,
  submitDevicePage,
  pushAuthorizationRequest,
  oauthToken,
  introspectToken,
  revokeToken,
  registerOAuthClient,
  readOAuthRegistration,
  changeOAuthRegistration,
  endOAuthRegistration,
  userinfo,
  userinfoByPost,
  listOwnGrants,
  revokeOwnGrant,
  adminListGrants,
  adminRevokeGrant,
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
  adminIssueUserToken,
  adminRevokeAllSessions,
  adminGenerateLink,
  adminListCustomProviders,
  adminCreateCustomProvider,
  adminGetCustomProvider,
  adminUpdateCustomProvider,
  adminDeleteCustomProvider,
  adminListOAuthClients,
  adminCreateOAuthClient,
  adminGetOAuthClient,
  adminUpdateOAuthClient,
  adminDeleteOAuthClient,
  adminRenewOAuthClientSecret,
  adminListSsoProviders,
  adminCreateSsoProvider,
  adminGetSsoProvider,
  adminUpdateSsoProvider,
  adminDeleteSsoProvider,
  adminListScimTokens,
  adminCreateScimToken,
  adminDeleteScimToken,
  adminListKeys,
  adminCreateKey,
  adminRotateKey,
  adminRevokeKey,
  adminListServiceAccounts,
  adminCreateServiceAccount,
  adminDeleteServiceAccount,
  adminAudit,
  adminEvents,
  adminSignIns,
  adminSignInFailures,
  adminSettings,
  adminMailTemplates,
  adminTestMail,
  jwks,
  openIdConfiguration,
  openIdConfigurationOfPath,
  authorizationServerMetadata,
  authorizationServerMetadataOfPath,
]

export const endpoints: readonly Endpoint[] = [...table, createOpenApi(table)]
