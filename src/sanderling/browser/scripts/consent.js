// Closes cookie banners of common tools: refuses where there is a button for that, and takes the banner off the page.
// Nothing is ever accepted. Each line: the banner, the button that refuses.
(() => {
  const BANNERS = [
    ["#onetrust-consent-sdk", "#onetrust-reject-all-handler"],
    ["#CybotCookiebotDialog", "#CybotCookiebotDialogBodyButtonDecline"],
    ["#didomi-host", "#didomi-notice-disagree-button"],
    [".qc-cmp2-container", ".qc-cmp2-summary-buttons button[mode=secondary]"],
    ["#usercentrics-root", "[data-testid=uc-deny-all-button]"],
    ["#truste-consent-track", "#truste-consent-required"],
    [".osano-cm-window", ".osano-cm-denyAll"],
    ["#tarteaucitronRoot", "#tarteaucitronAllDenied2"],
    [".klaro", ".cm-btn-decline"],
    ["#cmplz-cookiebanner-container", ".cmplz-deny"],
    ["#iubenda-cs-banner", ".iubenda-cs-reject-btn"],
    ["#BorlabsCookieBox", "[data-cookie-refuse]"],
    [".cky-consent-container", ".cky-btn-reject"],
    ["#termly-code-snippet-support", "[data-tid=banner-decline]"],
    [".cc-window.cc-banner", ".cc-deny"],
    ["#cookie-law-info-bar", "#cookie_action_close_header_reject"],
    ["#hs-eu-cookie-confirmation", "#hs-eu-decline-button"],
    ["#axeptio_overlay", "#axeptio_btn_dismiss"],
  ];
  let closed = 0;
  for (const [banner, refuse] of BANNERS)
    for (const element of document.querySelectorAll(banner)) {
      (element.querySelector(refuse) || element.shadowRoot?.querySelector(refuse))?.click();
      element.remove();
      closed++;
    }
  return closed;
})()
