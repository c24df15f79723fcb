import type { AuthConfig } from '../../config/schema/auth-config.ts';
import type { SecurityScheme } from './agent-card.ts';

/** How clients authenticate: with a bearer token, and where they get one from an identity provider. */
export function cardSecurity({ jwt }: Pick<AuthConfig, 'jwt'>): Record<string, SecurityScheme> {
  // An issuer whose keys are configured need not have metadata.
  const issuers = jwt.filter(({ jwksUri }) => jwksUri === undefined);
  return {
    bearer: {
      httpAuthSecurityScheme: {
        scheme: 'Bearer',
        description: 'An API key of the service, or a token of its identity provider.',
      },
    },
    ...Object.fromEntries(issuers.map(({ name, issuer }) => [`oidc-${name}`, openId(issuer)])),
  };
}

function openId(issuer: string): SecurityScheme {
  const openIdConnectUrl = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  return { openIdConnectSecurityScheme: { openIdConnectUrl } };
}
