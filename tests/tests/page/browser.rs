//! A headless Chromium with a driver of its own.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use super::memory::Memory;

/// Longest wait for a condition, on a loaded machine.
const WAIT_MAX: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A browser; its driver ends with it.
pub struct Browser {
    client: Client,
    base: String,
    driver: Driver,
    _profile: tempfile::TempDir,
}

/// The driver and, in its process group, the browser.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        // A test that failed has not ended its browser.
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
        let _ = self.0.wait();
    }
}

/// The colors that a user prefers, as Chromium's setting numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorScheme {
    Dark,
    Light,
}

/// Returns the folder of the screenshots.
pub fn screenshots() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-screenshots");
    std::fs::create_dir_all(&folder).expect("a folder for screenshots");
    folder
}

impl Browser {
    /// Starts a browser that has not been let in.
    pub async fn start() -> Self {
        Self::start_as(ColorScheme::Light).await
    }

    async fn start_as(scheme: ColorScheme) -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed (Debian: chromium-driver)");
        let output = driver.stdout.take().expect("its output");
        let driver = Driver(driver);
        let port = BufReader::new(output)
            .lines()
            .map_while(Result::ok)
            .find_map(|line| {
                let (_, port) = line.split_once("started successfully on port ")?;
                port.trim_end_matches('.').parse::<u16>().ok()
            });
        let port = port.expect("chromedriver names its port");
        let profile = tempfile::tempdir().expect("a folder for the profile");
        let arguments = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--hide-scrollbars".to_owned(),
            format!("--user-data-dir={}", profile.path().display()),
            format!("--blink-settings=preferredColorScheme={}", scheme as u8),
        ];
        let capabilities = json!({
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        });
        let capabilities = capabilities.as_object().cloned().expect("an object");
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("chromium starts (Debian: chromium)");
        Self {
            client,
            base: String::new(),
            driver,
            _profile: profile,
        }
    }

    /// Starts a browser that looks at a memory.
    pub async fn open(memory: &Memory) -> Self {
        Self::open_as(memory, ColorScheme::Light).await
    }

    /// Starts a browser that looks at a memory, with the colors that its user prefers.
    pub async fn open_as(memory: &Memory, scheme: ColorScheme) -> Self {
        let mut browser = Self::start_as(scheme).await;
        let link = memory.link();
        browser.visit(&link).await;
        browser.until("document.querySelector('h1') !== null").await;
        let (base, _) = link.split_once("/#").expect("a link has a secret");
        browser.base = base.to_owned();
        browser
    }

    /// Opens an address.
    pub async fn visit(&self, address: &str) {
        self.client.goto(address).await.expect("the address opens");
    }

    /// Opens a view and waits until it is shown.
    pub async fn go(&self, path: &str) {
        self.visit(&format!("{}{path}", self.base)).await;
        self.until("document.querySelector('h1, .empty') !== null && !document.getElementById('main').hasAttribute('aria-busy')").await;
    }

    /// Returns the address that is shown.
    pub async fn address(&self) -> String {
        let address = self.client.current_url().await.expect("an address");
        address.to_string()
    }

    /// Waits until an expression is true.
    pub async fn until(&self, expression: &str) {
        let began = Instant::now();
        let script = format!("return Boolean({expression})");
        while self.run(&script, vec![]).await != json!(true) {
            let waited = began.elapsed();
            assert!(
                waited < WAIT_MAX,
                "{expression}: {}",
                self.text("body").await
            );
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Runs a script and returns its value.
    pub async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        let value = self.client.execute(script, arguments).await;
        value.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Runs a script that calls its last argument with its value.
    pub async fn run_async(&self, script: &str) -> Value {
        let value = self.client.execute_async(script, vec![]).await;
        value.expect("the script ends")
    }

    /// Returns the visible text of an element.
    pub async fn text(&self, selector: &str) -> String {
        let element = self.client.find(Locator::Css(selector)).await;
        let element = element.unwrap_or_else(|error| panic!("{selector}: {error}"));
        element.text().await.expect("its text")
    }

    /// Returns the number of elements.
    pub async fn count(&self, selector: &str) -> usize {
        let found = self.client.find_all(Locator::Css(selector)).await;
        found.expect("a selector").len()
    }

    /// Types keys into the active element.
    pub async fn keys(&self, keys: &str) {
        let active = self.client.active_element().await.expect("an element");
        active.send_keys(keys).await.expect("it takes keys");
    }

    /// Sets the size of the window.
    pub async fn resize(&self, width: u32, height: u32) {
        let resized = self.client.set_window_size(width, height).await;
        resized.expect("a size");
    }

    /// Writes a picture of the window.
    pub async fn shoot(&self, path: &Path) {
        let picture = self.client.screenshot().await.expect("a picture");
        std::fs::write(path, picture).expect("it is written");
    }

    /// Returns the lines of the console since the last call, reports about the content's policy among them.
    pub async fn console(&self) -> Vec<String> {
        let log = self.client.issue_cmd(ReadLog).await.expect("a log");
        let lines = log.as_array().into_iter().flatten();
        lines.map(|line| line["message"].to_string()).collect()
    }

    /// Ends the browser.
    pub async fn close(self) {
        self.client.close().await.expect("it ends");
        drop(self.driver);
    }
}

/// Chromium's own command that returns its log.
#[derive(Debug)]
struct ReadLog;

impl WebDriverCompatibleCommand for ReadLog {
    fn endpoint(
        &self,
        base: &url::Url,
        session: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (hyper::Method, Option<String>) {
        (
            hyper::Method::POST,
            Some(json!({"type": "browser"}).to_string()),
        )
    }
}
