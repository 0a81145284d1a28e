import type { ProviderShape } from '../provider-shape.ts'

const kakaoAccount = {
  profile_nickname_needs_agreement: false,
  profile_image_needs_agreement: false,
  profile: {
    nickname: '홍길동',
    thumbnail_image_url: 'https://k.kakaocdn.example/110x110.jpg',
    profile_image_url: 'https://k.kakaocdn.example/640x640.jpg',
    is_default_image: false,
  },
  email_needs_agreement: false,
  is_email_valid: true,
  is_email_verified: true,
  email: 'gildong@kakao.example',
}

/**
 * According to the documentation of the REST API. There is no ID token, because the scope `openid`
 * is not requested.
 */
export const kakao: ProviderShape = {
  id: 'kakao',
  authorizePath: '/oauth/authorize',
  tokenPath: '/oauth/token',
  scopes: ['account_email', 'profile_image', 'profile_nickname'],
  credentials: 'body',
  tokenFields: () => ({
    refresh_token_expires_in: 5_184_000,
    scope: 'account_email profile_image profile_nickname',
  }),
  tokenError: (error, reason) => ({ error, error_description: reason, error_code: 'KOE320' }),
  apiError: (status, msg) => ({ status, body: { msg, code: -status } }),
  api: { '/v2/user/me': (account) => account },
  example: {
    account: {
      id: 1_376_016_924_429_759,
      connected_at: '2022-04-11T01:45:28Z',
      properties: { nickname: '홍길동' },
      kakao_account: kakaoAccount,
    },
    identityData: {
      iss: 'URL',
      sub: '1376016924429759',
      provider_id: '1376016924429759',
      email: 'gildong@kakao.example',
      email_verified: true,
      phone_verified: false,
      name: '홍길동',
      full_name: '홍길동',
      user_name: '홍길동',
      preferred_username: '홍길동',
      picture: 'https://k.kakaocdn.example/640x640.jpg',
      avatar_url: 'https://k.kakaocdn.example/640x640.jpg',
    },
    unverified: {
      id: 2,
      kakao_account: { ...kakaoAccount, email: 'fresh@kakao.example', is_email_verified: false },
    },
    // The user did not agree to share the address.
    withoutEmail: {
      id: 3,
      kakao_account: { profile: kakaoAccount.profile, email_needs_agreement: true },
    },
    withoutId: { id: undefined },
  },
}
